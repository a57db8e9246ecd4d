package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.FailureDomain;
import java.util.regex.Pattern;

/**
 * A profile of the store with its placement groups. It never changes, except that it can be removed
 * when no blob has it; its number and its groups are not used again then.
 *
 * @param number as in the ids of its blobs, see {@link BlobId#profile}; 0 is the profile that the
 *     store was made with
 * @param name of the storage class whose objects have this profile
 * @param firstGroup the number of its first placement group
 * @param groupCount how many groups it has; their numbers follow each other
 * @param failureDomain over which the slots of each group are spread
 * @param isRemoved whether it was removed: its groups have no slots then
 */
public record PlacedProfile(
    int number,
    String name,
    Profile profile,
    int firstGroup,
    int groupCount,
    FailureDomain failureDomain,
    boolean isRemoved) {
  /** The storage class that means the default profile of the store, whichever that is. */
  public static final String STANDARD = "STANDARD";

  /** The name of the profile that the store was made with. */
  public static final String FIRST = "FIRST";

  private static final Pattern NAME = Pattern.compile("[A-Z0-9_-]{1,32}");

  /** Whether a further profile may have this name: it is well formed, and not reserved. */
  public static boolean isName(String name) {
    return NAME.matcher(name).matches() && !name.equals(STANDARD) && !name.equals(FIRST);
  }

  /** A storage class as metadata stores it: STANDARD is empty. */
  public static String storedClass(String name) {
    return name.equals(STANDARD) ? "" : name;
  }

  /** The name of a storage class that metadata has stored. */
  public static String className(String stored) {
    return stored.isEmpty() ? STANDARD : stored;
  }

  /** The placement group of a blob of this profile. */
  public int group(BlobId id) {
    return firstGroup + id.groupOf(groupCount);
  }

  public boolean hasGroup(int pg) {
    return pg >= firstGroup && pg < endGroup();
  }

  /** The number behind that of its last group. */
  public int endGroup() {
    return firstGroup + groupCount;
  }

  /** For people. */
  @Override
  public String toString() {
    return name + " (" + profile + ")";
  }
}
