// What is drawn where. All numbers and names come from the payload.
"use strict";

(() => {
  const payload = JSON.parse(document.getElementById("payload").textContent);
  const { methods, datasets } = payload;
  const byId = (id) => document.getElementById(id);
  const styleOf = (method) => {
    const number = methods.findIndex((other) => other.name === method.name);
    return { label: method.label, tone: `m${number}`, shape: number };
  };
  const seconds = (value) => `${shown(value)} s`;
  const per = (value) => `${value.toFixed(1)} %`;

  function glanceSeries(data, withPaper) {
    const series = [];
    for (const method of methods) {
      const own = data.results[method.name];
      if (!own || own.error === null) continue;
      const style = styleOf(method);
      const std = own.std ? ` ± ${own.std.toFixed(1)}` : "";
      const lines = [method.label, `error ${own.error.toFixed(1)}${std} %`];
      if (own.paperError !== null) lines.push(`paper ${per(own.paperError)}`);
      if (method.kind === "none") {
        series.push({ ...style, rule: true, points: [[null, own.error, lines.join("\n")]] });
        continue;
      }
      lines.push(`time ${seconds(own.seconds)}`);
      if (own.updates !== null) lines.push(`updates ${shown(own.updates)}`);
      series.push({ ...style, tag: true, points: [[own.seconds, own.error, lines.join("\n")]] });
      if (withPaper && own.paperError !== null && own.paperSeconds !== null)
        series.push({ ...style, hollow: true, points: [[own.paperSeconds, own.paperError,
          `${method.label} in the paper\nerror ${per(own.paperError)}\ntime ${seconds(own.paperSeconds)}`]] });
    }
    return series;
  }

  function glance() {
    const charts = [];
    const used = methods.filter((method) => datasets.some((data) => data.results[method.name]));
    const specOf = (data) => ({
      title: data.name, label: `Error against time on ${data.name}`, height: 280,
      x: { label: "seconds to learn", log: true }, y: { label: "error of 3-NN, %" },
      series: glanceSeries(data, byId("with-paper").checked) });
    for (const data of datasets)
      charts.push(new Chart(html("figure", byId("glance-charts"), { class: "chart" }), specOf(data)));
    keys(byId("glance-legend"), used.map((method) =>
      ({ ...styleOf(method), rule: method.kind === "none" })), () => charts);
    byId("with-paper").addEventListener("change", () =>
      charts.forEach((chart, k) => chart.show(specOf(datasets[k]))));
  }

  function theorem() {
    const bounded = datasets.filter((data) => data.bound && data.results["as-sgd"]);
    if (!bounded.length) return byId("theorem").remove();
    const names = bounded.map((data) => data.name).reverse();
    const row = (data) => names.indexOf(data.name);
    const kinds = [
      ["AS-SGD, ours", "m9", 9, false, (data) => data.results["as-sgd"].updates],
      ["AS-SGD, the paper’s", "m9", 9, true, (data) => data.results["as-sgd"].paperUpdates],
      ["bound by slopes", "m8", 3, false, (data) => data.bound.sharp],
      ["Theorem 2’s bound", "m10", 1, false, (data) => data.bound.updates],
      ["triplets", "m0", 5, false, (data) => (data.curves["as-sgd"] || { triplets: [] }).triplets.at(-1)],
    ];
    const series = kinds.map(([label, tone, shape, hollow, value]) => ({ label, tone, shape, hollow,
      points: bounded.filter((data) => value(data)).map((data) =>
        [value(data), row(data), `${data.name}\n${label}: ${shown(value(data))}`]) }));
    const spec = { label: "Updates of AS-SGD against Theorem 2's bound",
      height: 70 + 34 * names.length, x: { label: "updates", log: true }, y: { names }, series };
    const chart = new Chart(byId("theorem-chart"), spec);
    const legend = html("div", byId("theorem-chart"), { class: "keys" });
    keys(legend, series, () => [chart]);
  }

  function curveSpec(data, part, label, curves) {
    const series = [];
    for (const method of methods) {
      const curve = curves[method.name];
      if (!curve || (part === "loss" && method.kind !== "sgd")) continue;
      series.push({ ...styleOf(method), line: true, points: curve[part].map((value, k) => [
        curve.triplets[k], value, `${method.label}\nafter ${shown(curve.triplets[k])} triplets\n${
          label}: ${value === null ? "–" : shown(value)}`]) });
    }
    return { title: data.name, label: `${label} on ${data.name}`, canLog: true, series,
      x: { label: "triplets seen" }, y: { label, log: part === "updates" } };
  }

  function study() {
    for (const sweep of payload.study) {
      const lines = (part, label) => sweep.methods.map(({ name, values }) => {
        const style = styleOf(methods.find((method) => method.name === name));
        return { ...style, line: true, points: values.map((row) => [row.value, row[part],
          `${style.label}\n${sweep.parameter} = ${row.value}\n${label}: ${shown(row[part])}`]) };
      });
      for (const [part, label] of [["error", "error of 3-NN, %"], ["updates", "updates"]]) {
        const series = lines(part, label);
        const spec = { title: `${sweep.dataset}: ${sweep.parameter}`, height: 240,
          label: `${label} on ${sweep.dataset} by ${sweep.parameter}`, series,
          x: { label: sweep.parameter, log: true }, y: { label, log: part === "updates" } };
        const host = html("figure", byId("study-charts"), { class: "chart" });
        const chart = new Chart(host, spec);
        keys(html("div", host, { class: "keys" }), series, () => [chart]);
      }
    }
  }

  function spectrumSpec(data) {
    const series = methods.filter((method) => data.spectra[method.name] && method.kind !== "none")
      .map((method) => ({ ...styleOf(method), line: true,
        points: data.spectra[method.name].map(([rank, share]) =>
          [rank, share, `${method.label}\neigenvalue ${rank}\n${shown(share)} of the largest`]) }));
    return { title: data.name, label: `Spectrum on ${data.name}`, canLog: true, series,
      x: { label: "rank of the eigenvalue" }, y: { label: "share of the largest", log: true } };
  }

  function cloudSpec(data, title, points) {
    const classes = [...new Set(data.picture.classes)].sort((a, b) => a - b);
    const series = classes.map((own, k) => ({ label: `class ${own}`, shape: k,
      hue: Math.round((k * 137.5 + 210) % 360),
      points: points.filter((_, i) => data.picture.classes[i] === own)
        .map(([x, y]) => [x, y, `class ${own}`]) }));
    return { title, label: `${data.name}: ${title}`, height: 380, equal: true, series,
      x: { label: "first principal component", bare: true }, y: { label: "second", bare: true } };
  }

  function closer() {
    const charts = {};
    const legends = {};
    const put = (id, spec) => {
      if (charts[id]) {
        charts[id].hidden.clear();
        charts[id].host.querySelector(".bar b").textContent = spec.title;
        charts[id].show(spec);
      } else {
        charts[id] = new Chart(byId(id), spec);
        legends[id] = html("div", byId(id), { class: "keys" });
      }
      keys(legends[id], spec.series, () => [charts[id]]);
    };
    const select = byId("pick-method");
    let current = null;
    function after() {
      const method = methods.find((other) => other.name === select.value);
      put("after-chart", cloudSpec(current, `after ${method.label}`, current.picture.after[method.name]));
    }
    function choose(data) {
      current = data;
      for (const button of byId("pick-data").children)
        button.setAttribute("aria-pressed", String(button.textContent === data.name));
      put("training-chart", curveSpec(data, "loss", "training error", data.training));
      put("loss-chart", curveSpec(data, "loss", "loss", data.curves));
      put("updates-chart", curveSpec(data, "updates", "updates", data.curves));
      put("spectrum-chart", spectrumSpec(data));
      if (!data.picture) return;
      const old = select.value;
      select.replaceChildren();
      for (const method of methods)
        if (data.picture.after[method.name] && method.kind !== "none")
          html("option", select, { value: method.name }, method.label);
      const wanted = [old, "ha-sgd"].find((name) => name && data.picture.after[name]);
      if (wanted) select.value = wanted;
      put("before-chart", cloudSpec(data, "before", data.picture.before));
      if (select.value) after();
    }
    select.addEventListener("change", after);
    for (const data of datasets)
      html("button", byId("pick-data"), { type: "button" }, data.name)
        .addEventListener("click", () => choose(data));
    choose(datasets[0]);
  }

  if (datasets.length) {
    glance();
    theorem();
    study();
    closer();
  }
  document.documentElement.dataset.drawn = "yes";
})();
