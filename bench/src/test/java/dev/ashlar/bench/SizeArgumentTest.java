package dev.ashlar.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SizeArgumentTest {
  @Test
  void readsUnitsOfBothKinds() {
    assertEquals(4096, SizeArgument.parse("4096"));
    assertEquals(16384, SizeArgument.parse("16KiB"));
    assertEquals(7_680_000_000_000L, SizeArgument.parse("7.68TB"));
    assertEquals(3L << 39, SizeArgument.parse(" 1.5 tib "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "KiB", "4 kilo", "1.2.3", "99999999999TB", "-KB", "-5KB", "4K"})
  void refusesOthers(String text) {
    assertThrows(IllegalArgumentException.class, () -> SizeArgument.parse(text));
  }
}
