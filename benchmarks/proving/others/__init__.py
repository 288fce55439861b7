"""What other tools advise on the same runs, by their own code or their published thresholds, judged the same way.

An advice may be right about several of our labels: it counts as right where any of them is the pair's.
"""
