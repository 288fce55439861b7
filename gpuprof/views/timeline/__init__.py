"""The timeline: a Trace as lanes of events and curves, drawn by one Canvas2D module in the widget and in the page."""
