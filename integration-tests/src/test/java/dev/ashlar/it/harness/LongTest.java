package dev.ashlar.it.harness;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A test that {@code ./ashlar test --long} runs and {@code ./ashlar test} leaves out, because it
 * takes the better part of a minute and a shorter test shows the same mechanism.
 */
@Test
@Tag("long")
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface LongTest {}
