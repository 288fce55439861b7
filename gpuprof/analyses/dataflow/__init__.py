"""What ran on what: values, the operators that made and read them, and work that need not be done."""
