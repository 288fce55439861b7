"""What a measured cell would do to the world outside its variables: it is stopped before it happens."""
