"""Network plane: fabric, rails, placement, what leaving the node costs."""
