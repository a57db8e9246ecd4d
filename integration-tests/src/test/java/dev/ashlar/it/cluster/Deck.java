package dev.ashlar.it.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;

/** Draws at random, but none a second time before all have been drawn. */
final class Deck<T> {
  private final List<T> all;
  private final Random random;
  private final List<T> left = new ArrayList<>();
  private int drawn;

  Deck(List<T> all, Random random) {
    if (all.isEmpty()) {
      throw new IllegalArgumentException("nothing to draw from");
    }
    this.all = List.copyOf(all);
    this.random = random;
  }

  T draw() {
    if (left.isEmpty()) {
      left.addAll(all);
      Collections.shuffle(left, random);
    }
    drawn++;
    return left.removeLast();
  }

  /** The next one that is like this, if there is one before all have been drawn. */
  Optional<T> draw(Predicate<T> like) {
    Optional<T> next = left.stream().filter(like).findFirst();
    next.ifPresent(
        each -> {
          left.remove(each);
          drawn++;
        });
    return next;
  }

  /** Whether each has been drawn at least once. */
  boolean isThrough() {
    return drawn >= all.size();
  }
}
