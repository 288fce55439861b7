"""What the driver reports of each device: clocks, power, energy, health."""
