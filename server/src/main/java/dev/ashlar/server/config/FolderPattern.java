package dev.ashlar.server.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Folders named in short: {@code /mnt/d{1...6}} is six, commas separate patterns. */
public final class FolderPattern {
  private static final int FOLDERS_MAX = 1024;

  private FolderPattern() {}

  /**
   * @throws IllegalArgumentException when a range is malformed, a folder is named twice, or is a
   *     URL
   */
  public static List<Path> expand(String patterns) {
    List<Path> folders = new ArrayList<>();
    for (String pattern : patterns.split(",", -1)) {
      OptionTypes.require(!pattern.isBlank(), "'%s' names an empty folder", patterns);
      OptionTypes.require(
          !pattern.contains("://"),
          "'%s' names folders of other servers: processes that are one store are a cluster, see"
              + " docs/operate/deploy.md",
          pattern.strip());
      expand(pattern.strip(), folders);
    }
    OptionTypes.require(
        Set.copyOf(folders).size() == folders.size(), "'%s' names a folder twice", patterns);
    return folders;
  }

  private static void expand(String pattern, List<Path> folders) {
    int open = pattern.indexOf('{');
    int close = pattern.indexOf('}', open + 1);
    if (open < 0) {
      folders.add(Path.of(pattern).toAbsolutePath().normalize());
      return;
    }
    int dots = pattern.indexOf("...", open);
    OptionTypes.require(dots >= 0 && dots < close, "'%s': expected a range like {1...6}", pattern);
    int first = number(pattern, open + 1, dots);
    int last = number(pattern, dots + 3, close);
    OptionTypes.require(
        first <= last && last - first < FOLDERS_MAX,
        "'%s': a range counts up, to 1024 folders",
        pattern);
    for (int i = first; i <= last; i++) {
      expand(pattern.substring(0, open) + i + pattern.substring(close + 1), folders);
    }
  }

  private static int number(String pattern, int from, int to) {
    try {
      return Integer.parseUnsignedInt(pattern, from, to, 10);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + pattern + "': expected a range like {1...6}", e);
    }
  }
}
