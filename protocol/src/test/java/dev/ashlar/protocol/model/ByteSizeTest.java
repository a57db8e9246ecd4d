package dev.ashlar.protocol.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
  @Test
  void readsUnitsOfBothKinds() {
    assertEquals(4096, ByteSize.parse("4096"));
    assertEquals(16384, ByteSize.parse("16KiB"));
    assertEquals(7_680_000_000_000L, ByteSize.parse("7.68TB"));
    assertEquals(3L << 39, ByteSize.parse(" 1.5 tib "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "KiB", "4 kilo", "1.2.3", "99999999999TB", "-KB", "-5KB", "4K"})
  void refusesOthers(String text) {
    assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text));
  }
}
