# numbers.jq: numbers as text, for programs that are run with -L bench.

# Numbers above 0, with so many digits behind the point.
def fixed($digits):
  pow(10; $digits) as $scale | (. * $scale | round) as $number | ($number % $scale | tostring) as $behind
  | "\($number / $scale | floor).\(("0" * ($digits - ($behind | length))) // "")\($behind)";
