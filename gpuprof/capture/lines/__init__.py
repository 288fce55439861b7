"""Line events of the user's code."""
