"""Several devices or ranks side by side."""
