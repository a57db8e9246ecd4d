package dev.ashlar.protocol.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProfileTest {
  @ParameterizedTest
  @ValueSource(strings = {"1+0", "4+2", "245+10", "255+0"})
  void aProfileIsWrittenAsItWasRead(String text) {
    assertEquals(text, Profile.parse(text, 0).toString());
  }

  /** Also where k+m is more than an int has. */
  @ParameterizedTest
  @ValueSource(strings = {"0+2", "250+6", "2147483647+1", "2147483647+2147483647"})
  void thereAreAtMost255Shards(String text) {
    assertThrows(IllegalArgumentException.class, () -> Profile.parse(text, 0));
  }
}
