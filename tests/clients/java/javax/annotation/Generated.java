package javax.annotation;

/** Marks generated code. Java has this annotation no longer, and generated clients use it. */
public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
