"""Cells in ports: queues, credits, pauses, marks and losses of up to 64 hosts below leaf switches."""
