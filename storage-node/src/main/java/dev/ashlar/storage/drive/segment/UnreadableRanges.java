package dev.ashlar.storage.drive.segment;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Ranges of segments that could not be read, kept for another attempt. */
final class UnreadableRanges {
  /** More than bad sectors cause. Limits memory for a drive that is entirely unreadable. */
  static final int MAX = 16 * 1024;

  private final Set<Place> places = new LinkedHashSet<>();
  private boolean isOverfull;

  record Place(Segment segment, int offset, int bytes) {}

  void add(Segment segment, int offset, int bytes) {
    Place place = new Place(segment, offset, bytes);
    if (places.size() < MAX) {
      places.add(place);
    } else {
      isOverfull |= !places.contains(place);
    }
  }

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
