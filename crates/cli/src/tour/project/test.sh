. ./greet.sh
want='Hello, world!'
got=$(greet world)
if [ "$got" != "$want" ]; then
    echo "FAILED: wanted '$want', got '$got'"
    exit 1
fi
echo "passed: $got"
