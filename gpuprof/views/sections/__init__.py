"""The tabs of the page and of the dashboard that hold tables and curves, one file a tab, found by scan."""
