package dev.ashlar.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.bench.process.BenchException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MixtureTest {
  private static final DataSet DATA = new DataSet(8, 64 << 10);

  @Test
  void readsAMix() {
    assertEquals(Map.of(Kind.READ, 100), Mix.parse("read").percent());
    assertEquals(Map.of(Kind.READ, 70, Kind.PATCH, 30), Mix.parse("read=70,patch=30").percent());
    for (String wrong : List.of("read=70", "read=70,patch=31", "fly=100", "read=x", "")) {
      assertThrows(BenchException.class, () -> Mix.parse(wrong), wrong);
    }
  }

  @Test
  void onlyWhatWasWrittenIsDeleted() {
    Mixture mixture = new Mixture(load("delete", true, 1), DATA, 1, "run");
    for (int number = 0; number < 3; number++) {
      Operation written = mixture.next(0);
      assertEquals(Kind.WRITE, written.kind());
      Operation deleted = mixture.next(0);
      assertEquals(Kind.DELETE, deleted.kind());
      assertEquals(written.key(), deleted.key());
    }
    assertEquals(List.of(), mixture.keys());
  }

  @Test
  void theSeedDecides() {
    assertEquals(operations("read=50,patch=50", true, 7), operations("read=50,patch=50", true, 7));
    assertNotEquals(
        operations("read=50,patch=50", true, 7), operations("read=50,patch=50", true, 8));
  }

  @Test
  void sharesAreAsAskedAndBlocksInsideObjects() {
    Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
    for (Operation operation : operations("read=70,patch=20,replace=10", true, 1)) {
      counts.merge(operation.kind(), 1, Integer::sum);
      if (operation.kind() != Kind.REPLACE) {
        assertEquals(0, operation.offset() % 4096);
        assertTrue(operation.offset() + operation.bytes() <= DATA.objectBytes());
      }
      assertTrue(DATA.keys().contains(operation.key()));
    }
    assertEquals(0.7, counts.getOrDefault(Kind.READ, 0) / 4000.0, 0.03);
    assertEquals(0.2, counts.getOrDefault(Kind.PATCH, 0) / 4000.0, 0.03);
    assertEquals(0.1, counts.getOrDefault(Kind.REPLACE, 0) / 4000.0, 0.03);
  }

  @Test
  void sequentialLanesShareTheObjectsAndComeRoundAgain() {
    Mixture mixture = new Mixture(load("read", false, 1), DATA, 4, "run");
    Set<String> seen = new HashSet<>();
    for (int step = 0; step < 32; step++) {
      for (int connection = 0; connection < 4; connection++) {
        Operation operation = mixture.next(connection);
        seen.add(operation.key() + "@" + operation.offset());
      }
    }
    assertEquals(8 * 16, seen.size());
  }

  @Test
  void appendsGoOnWhereTheLastEndedAndFillObjects() {
    Mixture mixture = new Mixture(load("append", true, 1), DATA, 1, "run");
    for (int object = 0; object < 2; object++) {
      for (int block = 0; block < 16; block++) {
        Operation operation = mixture.next(0);
        assertEquals(
            new Operation(Kind.APPEND, "run-0-a" + object, block * 4096L, 4096), operation);
        mixture.ended(0, operation, true);
      }
    }
    Operation failed = mixture.next(0);
    mixture.ended(0, failed, false);
    assertEquals("run-0-a3", mixture.next(0).key());
    assertEquals(List.of("run-0-a0", "run-0-a1", "run-0-a2"), mixture.keys());
  }

  @Test
  void aReadOfAWholeObjectHasNoRange() {
    Load load = new Load(Mix.parse("read"), DATA.objectBytes(), true, 1, 1, 0, 0, 1, 1, 0);
    assertEquals(Operation.WHOLE, new Mixture(load, DATA, 1, "run").next(0).offset());
  }

  private static Load load(String mix, boolean isRandom, long seed) {
    return new Load(Mix.parse(mix), 4096, isRandom, 1, 1, 0, 0, 1, seed, 0);
  }

  private static List<Operation> operations(String mix, boolean isRandom, long seed) {
    Mixture mixture = new Mixture(load(mix, isRandom, seed), DATA, 4, "run");
    List<Operation> operations = new ArrayList<>();
    for (int step = 0; step < 4000; step++) {
      operations.add(mixture.next(step % 4));
    }
    return operations;
  }
}
