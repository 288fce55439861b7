"""A libnvidia-ml.so.1 of our own, so that the real nvidia-ml-py meets every failure a driver can show."""
