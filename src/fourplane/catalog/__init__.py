"""What the field knows: facts and expected figures, each with unit, conditions, source and date."""
