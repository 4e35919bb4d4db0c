"""NVIDIA GPUs through CUDA's driver: the ranks' memory on them, the arms between them, and what copies cost."""
