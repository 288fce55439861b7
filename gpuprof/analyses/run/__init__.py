"""The run as a whole: time budget, idle causes, operators, launches, start-up."""
