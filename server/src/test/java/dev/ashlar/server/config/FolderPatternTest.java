package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FolderPatternTest {
  @Test
  void aRangeCountsBothEnds() {
    assertEquals(
        List.of(Path.of("/mnt/d9"), Path.of("/mnt/d10"), Path.of("/mnt/d11")),
        FolderPattern.expand("/mnt/d{9...11}"));
  }

  @Test
  void rangesMultiplyAndCommasAdd() {
    assertEquals(
        List.of(
            Path.of("/a1/b1"),
            Path.of("/a1/b2"),
            Path.of("/a2/b1"),
            Path.of("/a2/b2"),
            Path.of("/c")),
        FolderPattern.expand("/a{1...2}/b{1...2}, /c"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/d{1...}",
        "/d{1..3}",
        "/d{a...b}",
        "/d{3...1}",
        "/d{1...3",
        "",
        "/a,,/b",
        "/a,/a/",
        "/d{0...99999}"
      })
  void malformedOnesAreRefused(String pattern) {
    assertThrows(IllegalArgumentException.class, () -> FolderPattern.expand(pattern));
  }
}
