"""What most analyses build on: Results, phases, steps, device activity, tensor inputs, pauses."""
