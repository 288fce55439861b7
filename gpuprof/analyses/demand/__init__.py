"""What is really needed of what operators make: demand flows back from what is read."""
