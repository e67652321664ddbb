"""The shell of a broker: owns loops, timers and threads; decides nothing a pure machine can decide."""
