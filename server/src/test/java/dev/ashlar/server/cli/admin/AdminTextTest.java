package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdminTextTest {
  private final AdminText text = new AdminText(new Rates());

  private List<String> lines(String page) throws JsonProcessingException {
    return text.lines(new ObjectMapper().readTree(page));
  }

  @Test
  void sizesTimesAndSharesHaveTheirUnits() throws Exception {
    assertEquals(
        List.of(
            "id  bytesToMove  usedPercent  silent     owingFor",
            "a   3.0 KiB      7 %          1 min 1 s  -",
            "b   0 B          -            0 s        1 d 1 h"),
        lines(
            """
            [{"id":"a","bytesToMove":3072,"usedPercent":7,"silentMs":61500,"owingSeconds":null},
             {"id":"b","bytesToMove":0,"usedPercent":null,"silentMs":9,"owingSeconds":90000}]
            """));
  }

  @Test
  void listsComeLast() throws Exception {
    assertEquals(
        List.of("group  up  drives", "7      2   x y z"),
        lines("[{\"group\":7,\"drives\":[\"x\",\"y\",\"z\"],\"up\":2}]"));
    assertEquals(List.of("none"), lines("[]"));
  }

  @Test
  void whatIsWithinIsIndented() throws Exception {
    assertEquals(
        List.of(
            "epoch            4",
            "drives",
            "  in               6",
            "levels",
            "  spare 1, blobs 2, bytes 1.0 KiB",
            "draining         -"),
        lines(
            """
            {"epoch":4,"drives":{"in":6},"levels":[{"spare":1,"blobs":2,"bytes":1024}],
             "draining":[]}
            """));
  }
}
