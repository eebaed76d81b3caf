package javax.annotation;

/** Marks generated code. Only the compiler reads it. */
public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
