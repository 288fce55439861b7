"""Rules about the hardware and its driver: clocks, power, temperature, link, software stack."""
