"""Rules about copies between CPU and GPU."""
