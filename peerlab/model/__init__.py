"""What there is: machines, data paths, stages, resources, fabrics, transports, collectives, and their figures."""
