package org.openapitools.jackson.nullable;

import java.util.NoSuchElementException;
import java.util.Objects;

/** A value that may be absent or null. This is the part of jackson-databind-nullable that generated code uses. */
public final class JsonNullable<T> {
    private final boolean present;
    private final T value;

    private JsonNullable(boolean present, T value) {
        this.present = present;
        this.value = value;
    }

    public static <T> JsonNullable<T> undefined() {
        return new JsonNullable<>(false, null);
    }

    public static <T> JsonNullable<T> of(T value) {
        return new JsonNullable<>(true, value);
    }

    public boolean isPresent() {
        return present;
    }

    public T get() {
        if (!present) {
            throw new NoSuchElementException("the value is absent");
        }
        return value;
    }

    public T orElse(T other) {
        return present ? value : other;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JsonNullable<?> that && present == that.present && Objects.equals(value, that.value);
    }

    @Override
    public int hashCode() {
        return Objects.hash(present, value);
    }
}
