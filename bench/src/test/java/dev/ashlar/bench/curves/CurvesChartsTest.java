package dev.ashlar.bench.curves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.chart.Figure;
import dev.ashlar.bench.chart.Page;
import dev.ashlar.bench.result.Spread;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurvesChartsTest {
  private static final List<String> PROFILES = List.of("4+2", "4+2,optimizations=off");

  @TempDir Path folder;

  @Test
  void aPhaseIsTheSameWhenItIsReadAgain() throws Exception {
    Curves curves = curves("before", 1);
    Curves again = Curves.parse(Json.of(curves));
    assertEquals(Json.of(curves), Json.of(again));
  }

  @Test
  void onePhaseHasAChartForEachQuestion() {
    List<Figure> figures = new CurvesCharts(List.of(curves("run", 1))).figures();
    assertEquals(8, figures.size());
    Figure.Lines response = (Figure.Lines) figures.getFirst();
    assertEquals(
        List.of("4+2", "4+2 classic"), response.lines().stream().map(Figure.Line::name).toList());
    assertEquals(2, response.marks().size());
    assertTrue(response.x().title().contains("(op/s)"));
    assertTrue(response.y().title().contains("(ms)"));
  }

  /** Two phases: the same colours, dashed before; and files that hold what they should. */
  @Test
  void twoPhasesShareAPage() throws Exception {
    List<Figure> figures =
        new CurvesCharts(List.of(curves("before", 1), curves("after", 2))).figures();
    Figure.Lines response = (Figure.Lines) figures.getFirst();
    assertEquals(4, response.lines().size());
    assertTrue(response.lines().get(0).isFaint());
    assertFalse(response.lines().get(2).isFaint());
    assertEquals(response.lines().get(0).color(), response.lines().get(2).color());
    Page page = new Page(folder);
    for (Figure figure : figures) {
      page.figure(figure);
    }
    String html = Files.readString(page.write("Before and after"));
    assertEquals(figures.size(), html.split("<figure>", -1).length - 1);
    assertFalse(html.contains("http"), "nothing comes from elsewhere");
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        check(file);
      }
    }
  }

  /** Whatever was measured before, hours of measuring end with a page. */
  @Test
  void phasesOfOtherProfilesAndStepsShareAPageToo() throws Exception {
    Curves before = curves("run", 1);
    List<Curves.Point> other = new ArrayList<>();
    for (Curves.Point point : curves("run", 2).points()) {
      if (!point.label().equals("16 KiB")) {
        other.add(point);
      }
      other.add(in("6+2", point));
    }
    Curves after = new Curves("Another machine.", "run", other);
    for (List<Curves> phases : List.of(List.of(before, after), List.of(after, before))) {
      Page page = new Page(Files.createTempDirectory(folder, "page"));
      List<Figure> figures = new CurvesCharts(phases).figures();
      for (Figure figure : figures) {
        page.figure(figure);
      }
      Figure.Bars blocks = (Figure.Bars) figures.get(1);
      assertEquals(List.of("4 KiB", "16 KiB", "128 KiB", "4 MiB"), blocks.groups());
      assertEquals("run (earlier), P50", blocks.bars().getFirst().name());
      String caption = blocks.caption();
      assertTrue(caption.contains("run (earlier): Means of 1 passes of "), caption);
      assertTrue(caption.contains(" run: Means of 1 passes of "), caption);
    }
  }

  private static Curves.Point in(String profile, Curves.Point point) {
    return new Curves.Point(
        profile,
        point.sweep(),
        point.label(),
        point.x(),
        point.seconds(),
        point.operationsPerSecond(),
        point.mebibytesPerSecond(),
        point.meanMillis(),
        point.p50Millis(),
        point.p99Millis(),
        point.cpuMillisPerOperation(),
        point.residentMebibytes(),
        point.operations(),
        point.failures());
  }

  private static void check(Path file) throws Exception {
    if (file.toString().endsWith(".png")) {
      assertEquals(2200, ImageIO.read(file.toFile()).getWidth());
    } else if (file.toString().endsWith(".svg")) {
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
      var svg = factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
      assertEquals("svg", svg.getTagName());
      assertEquals("1100", svg.getAttribute("width"));
    }
  }

  private static Curves curves(String phase, double speed) {
    List<Curves.Point> points = new ArrayList<>();
    for (String profile : PROFILES) {
      for (Sweep.Step step : Sweep.steps(Sweep.Extent.quick(), 1)) {
        double depth = step.load().connections();
        double rate = 1000 * speed * depth / (1 + depth / 8);
        Spread millis = Spread.of(1000 * depth / rate, 1100 * depth / rate);
        points.add(
            new Curves.Point(
                profile,
                step.sweep(),
                step.label(),
                step.x(),
                step.load().seconds() * speed,
                Spread.of(rate),
                Spread.of(rate / 64),
                millis,
                millis,
                millis,
                0.5,
                300,
                1000,
                0));
      }
    }
    return new Curves("A machine.", phase, points);
  }
}
