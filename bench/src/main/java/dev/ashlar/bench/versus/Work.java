package dev.ashlar.bench.versus;

import java.util.ArrayList;
import java.util.List;

/** What warp is asked to do; numbers of objects are such that preparing takes seconds. */
enum Work {
  PUT_4K("PUT 4 KiB", "put --obj.size 4KiB", 0),
  PUT_64K("PUT 64 KiB", "put --obj.size 64KiB", 0),
  PUT_1M("PUT 1 MiB", "put --obj.size 1MiB", 0),
  PUT_10M("PUT 10 MiB", "put --obj.size 10MiB", 0),
  GET_4K("GET 4 KiB", "get --obj.size 4KiB", 2000),
  GET_64K("GET 64 KiB", "get --obj.size 64KiB", 1000),
  GET_1M("GET 1 MiB", "get --obj.size 1MiB", 300),
  GET_10M("GET 10 MiB", "get --obj.size 10MiB", 60),
  STAT("STAT", "stat --obj.size 4KiB", 2000),
  DELETE("DELETE", "delete --obj.size 4KiB --batch 1", 12_000),
  LIST("LIST", "list --obj.size 1KiB", 3200),
  RANGE("range 4 KiB of 10 MiB", "get --obj.size 10MiB --range --range-size 4096", 60),
  MULTIPART("parts of 5 MiB", "multipart-put --part.size 5MiB --parts 4 --part.concurrent 4", 0),
  MIXED("mixed 1 MiB", "mixed --obj.size 1MiB", 300);

  private final String title;
  private final String command;
  private final int objects;

  Work(String title, String command, int objects) {
    this.title = title;
    this.command = command;
    this.objects = objects;
  }

  String title() {
    return title;
  }

  /**
   * The subcommand and its flags.
   *
   * @param objectsFactor multiplies the prepared objects
   */
  List<String> warpArguments(double objectsFactor) {
    List<String> arguments = new ArrayList<>(List.of(command.split(" ", -1)));
    if (objects > 0) {
      arguments.addAll(List.of("--objects", String.valueOf(Math.round(objects * objectsFactor))));
    }
    return arguments;
  }

  /** Whether warp's record of this type is the work itself and not its preparation. */
  boolean measures(String operationType) {
    return switch (this) {
      case MIXED -> true;
      case MULTIPART -> operationType.equals("PUTPART");
      default -> operationType.equalsIgnoreCase(command.substring(0, command.indexOf(' ')));
    };
  }

  /** Mixed work PUTs too; there, preparation ends with the first operation that is no PUT. */
  boolean startsWith(String operationType) {
    return this == MIXED ? !operationType.equals("PUT") : measures(operationType);
  }
}
