"""Prints COUNT buffers as id,lower,upper,size: generate.py COUNT short|mixed

short   each lives for up to 8 steps
mixed   most live for up to 8 steps, one in 50 for up to a hundredth of the time
"""

import random
import sys

count, kind = int(sys.argv[1]), sys.argv[2]
random.seed(1)
print("id,lower,upper,size")
for i in range(count):
    longest = count // 100 if kind == "mixed" and random.random() < 0.02 else 8
    size = 256 * random.randint(1, 4096)
    print(f"{i},{i},{i + random.randint(1, max(longest, 1))},{size}")
