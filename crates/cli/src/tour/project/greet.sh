# Prints a greeting for a name.
greet() {
    printf 'Hello, %s!\n' "$2"
}
