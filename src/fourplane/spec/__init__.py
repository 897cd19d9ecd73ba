"""The declared and the promised cluster: ``fourplane.yaml`` and ``quotes/*.yaml`` as models split by plane."""
