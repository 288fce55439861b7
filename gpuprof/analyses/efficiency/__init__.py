"""How well the arithmetic uses the device."""
