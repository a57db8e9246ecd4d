package dev.ashlar.gateway.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.ashlar.gateway.fuzz.FuzzTargets.Target;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs each target on its seeds and on some mutations of them; a fuzzer does more. A run is
 * replayed with -Dashlar.fuzz.seed.
 */
class FuzzTargetsTest {
  private static final int MUTATIONS = 3000;

  static Set<String> targets() {
    return FuzzTargets.ALL.keySet();
  }

  @ParameterizedTest
  @MethodSource("targets")
  void seedsAndMutations(String name) {
    Target target = FuzzTargets.ALL.get(name);
    target.seeds().forEach(target.run());
    long seed = Long.getLong("ashlar.fuzz.seed", System.nanoTime());
    System.out.println(name + ": replay with -Dashlar.fuzz.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] input = target.seeds().get(random.nextInt(target.seeds().size()));
      for (int times = random.nextInt(4); times >= 0; times--) {
        input = mutate(input, random);
      }
      try {
        target.run().accept(input);
      } catch (RuntimeException | Error e) {
        throw new AssertionError("input: " + new String(input, ISO_8859_1), e);
      }
    }
  }

  private static byte[] mutate(byte[] input, Random random) {
    if (input.length == 0) {
      return new byte[] {(byte) random.nextInt()};
    }
    int at = random.nextInt(input.length);
    byte[] mutated = input.clone();
    switch (random.nextInt(4)) {
      case 0 -> mutated[at] = (byte) random.nextInt();
      case 1 -> mutated[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> mutated = Arrays.copyOf(mutated, at);
      default -> {
        // A piece again somewhere else.
        int length = random.nextInt(Math.min(20, input.length - at) + 1);
        int to = random.nextInt(input.length);
        mutated = new byte[input.length + length];
        System.arraycopy(input, 0, mutated, 0, to);
        System.arraycopy(input, at, mutated, to, length);
        System.arraycopy(input, to, mutated, to + length, input.length - to);
      }
    }
    return mutated;
  }

  @Test
  void emptyInputIsFine() {
    List.copyOf(FuzzTargets.ALL.values()).forEach(target -> target.run().accept(new byte[0]));
  }
}
