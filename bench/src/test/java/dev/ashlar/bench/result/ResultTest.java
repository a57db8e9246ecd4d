package dev.ashlar.bench.result;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultTest {
  @TempDir Path root;

  @Test
  void nothingIsOverwritten() throws Exception {
    ResultFolder first = ResultFolder.create(root, "load", "before");
    assertNotEquals(first.path(), ResultFolder.create(root, "load", "before").path());
    first.writeStep("6+2,optimizations=off", 1, "depth 4", Spread.of(1));
    assertTrue(
        Files.exists(
            first.path().resolve("before/6+2-optimizations=off/pass-1/depth-4/result.json")));
    assertThrows(
        FileAlreadyExistsException.class,
        () -> first.writeStep("6+2,optimizations=off", 1, "depth 4", Spread.of(1)));
  }

  /** As --phase .. would have it. */
  @Test
  void staysInItsFolderWhateverAPhaseIsCalled() throws Exception {
    for (String name : List.of("..", ".", "", "/tmp", "a/../../b")) {
      ResultFolder folder = ResultFolder.create(root, "load", name);
      folder.writeStep(name, 1, name, Spread.of(1));
      try (Stream<Path> files = Files.walk(folder.path())) {
        Path result = files.filter(file -> file.endsWith("result.json")).findFirst().orElseThrow();
        assertEquals(5, folder.path().relativize(result).getNameCount(), name);
      }
    }
  }

  @Test
  void namesAbnormalVariance() {
    Spread steady = Spread.of(100, 101, 99);
    assertEquals(100, steady.mean());
    assertEquals(0.01, steady.deviation(), 1e-9);
    assertFalse(steady.isAbnormal());
    Spread jumping = Spread.of(100, 150, 50);
    assertTrue(jumping.isAbnormal());
    assertTrue(jumping.text("op/s").contains("ABNORMAL"));
    assertEquals(0, Spread.of(7).deviation());
  }
}
