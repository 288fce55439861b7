"""Rules about what the GPU computes: precision, shapes, layouts, fusion, attention."""
