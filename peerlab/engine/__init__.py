"""From a scenario to its trace: the referee (`events`, on SimPy), and faster engines that equal it or refuse."""
