"""The controller: decides which broker leads what. Pure; events in, effects out.

Imports common only. `runtime/controller/controller_runtime.py` carries the effects out.
"""
