"""Real programs as notebooks: what gpuprof says of them, and how much of any cell it leaves without phase and place."""
