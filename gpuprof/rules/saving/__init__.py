"""What a change would save, as rules put it: shares of step time, predicted savings, kernel time, waits."""
