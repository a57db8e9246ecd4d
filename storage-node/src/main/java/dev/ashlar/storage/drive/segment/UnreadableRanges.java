package dev.ashlar.storage.drive.segment;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Where segments could not be read, so that they can be looked at again. */
final class UnreadableRanges {
  /** More than what bad sectors take; bounds the memory for a drive of which nothing is read. */
  static final int MAX = 16 * 1024;

  private final Set<Place> places = new LinkedHashSet<>();
  private boolean isOverfull;

  /** Bytes that were read at once. */
  record Place(Segment segment, int offset, int bytes) {}

  void add(Segment segment, int offset, int bytes) {
    Place place = new Place(segment, offset, bytes);
    if (places.size() < MAX) {
      places.add(place);
    } else {
      isOverfull |= !places.contains(place);
    }
  }

  /** Whether there are more than are remembered. */
  boolean isOverfull() {
    return isOverfull;
  }

  List<Place> all() {
    return new ArrayList<>(places);
  }

  List<Segment> segments() {
    return places.stream().map(Place::segment).distinct().toList();
  }

  void clear() {
    places.clear();
    isOverfull = false;
  }
}
