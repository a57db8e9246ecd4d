package dev.ashlar.bench.versus;

import java.util.ArrayList;
import java.util.List;

/** What warp is asked to do; numbers of objects are such that preparing takes seconds. */
enum Work {
  PUT_4K("PUT 4 KiB", "put", "4KiB", 0, ""),
  PUT_64K("PUT 64 KiB", "put", "64KiB", 0, ""),
  PUT_1M("PUT 1 MiB", "put", "1MiB", 0, ""),
  PUT_10M("PUT 10 MiB", "put", "10MiB", 0, ""),
  GET_4K("GET 4 KiB", "get", "4KiB", 2000, ""),
  GET_64K("GET 64 KiB", "get", "64KiB", 1000, ""),
  GET_1M("GET 1 MiB", "get", "1MiB", 300, ""),
  GET_10M("GET 10 MiB", "get", "10MiB", 60, ""),
  STAT("STAT", "stat", "4KiB", 2000, ""),
  DELETE("DELETE", "delete", "4KiB", 12_000, "--batch 1"),
  LIST("LIST", "list", "1KiB", 3200, ""),
  RANGE("range 4 KiB of 10 MiB", "get", "10MiB", 60, "--range --range-size 4096"),
  MIXED("mixed 1 MiB", "mixed", "1MiB", 300, "");

  private final String title;
  private final String command;
  private final String objectSize;
  private final int objects;
  private final String extra;

  Work(String title, String command, String objectSize, int objects, String extra) {
    this.title = title;
    this.command = command;
    this.objectSize = objectSize;
    this.objects = objects;
    this.extra = extra;
  }

  String title() {
    return title;
  }

  /**
   * The subcommand and its flags.
   *
   * @param objectsFactor multiplies the prepared objects, to outgrow caches
   */
  List<String> warpArguments(int objectsFactor) {
    List<String> arguments = new ArrayList<>(List.of(command, "--obj.size", objectSize));
    if (objects > 0) {
      arguments.addAll(List.of("--objects", String.valueOf(objects * objectsFactor)));
    }
    if (!extra.isEmpty()) {
      arguments.addAll(List.of(extra.split(" ", -1)));
    }
    return arguments;
  }

  /** Whether warp's record of this type is the work itself and not its preparation. */
  boolean measures(String operationType) {
    return switch (command) {
      case "put" -> operationType.equals("PUT");
      case "mixed" -> true;
      default -> operationType.equalsIgnoreCase(command);
    };
  }

  /** Mixed work PUTs too; there, preparation ends with the first operation that is no PUT. */
  boolean startsWith(String operationType) {
    return this == MIXED ? !operationType.equals("PUT") : measures(operationType);
  }
}
