"""Stream jobs: submitted from a form, watched while they run, reset and removed by plan."""
