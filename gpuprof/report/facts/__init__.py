"""Parts of the stable object and of the views that are figures alone: efficiency, bandwidth, ranks, device spots."""
