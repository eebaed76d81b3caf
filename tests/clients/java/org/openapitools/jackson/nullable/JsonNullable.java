package org.openapitools.jackson.nullable;

/** A value that may be absent, or null, or there: what generated clients need of jackson-databind-nullable. */
public final class JsonNullable<T> {
    private static final JsonNullable<?> UNDEFINED = new JsonNullable<>(null, false);

    private final T value;
    private final boolean present;

    private JsonNullable(T value, boolean present) {
        this.value = value;
        this.present = present;
    }

    @SuppressWarnings("unchecked")
    public static <T> JsonNullable<T> undefined() {
        return (JsonNullable<T>) UNDEFINED;
    }

    public static <T> JsonNullable<T> of(T value) {
        return new JsonNullable<>(value, true);
    }

    public T get() {
        return value;
    }

    public T orElse(T other) {
        return present ? value : other;
    }

    public boolean isPresent() {
        return present;
    }
}
