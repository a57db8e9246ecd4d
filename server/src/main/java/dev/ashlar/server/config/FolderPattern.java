package dev.ashlar.server.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** Folders named in short: {@code /mnt/d{1...6}} is six, commas separate patterns. */
public final class FolderPattern {
  private static final int FOLDERS_MAX = 1024;

  private FolderPattern() {}

  /**
   * @throws IllegalArgumentException when a range is malformed, or a folder is named twice
   */
  public static List<Path> expand(String patterns) {
    List<Path> folders = new ArrayList<>();
    for (String pattern : patterns.split(",", -1)) {
      if (pattern.isBlank()) {
        throw new IllegalArgumentException("'" + patterns + "' names an empty folder");
      }
      expand(pattern.strip(), folders);
    }
    if (new LinkedHashSet<>(folders).size() != folders.size()) {
      throw new IllegalArgumentException("'" + patterns + "' names a folder twice");
    }
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
    if (close < 0 || dots < 0 || dots > close) {
      throw new IllegalArgumentException("'" + pattern + "': expected a range like {1...6}");
    }
    int first = number(pattern, open + 1, dots);
    int last = number(pattern, dots + 3, close);
    if (last < first || last - first >= FOLDERS_MAX) {
      throw new IllegalArgumentException("'" + pattern + "': a range counts up, to 1024 folders");
    }
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
